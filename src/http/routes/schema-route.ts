import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { answerOtherMethods } from '../../rest/other-methods';
import { sendRead } from '../../rest/responses/send-result';
import { printed } from '../../schema/printed-schema';

const URL = '/schema.graphql';
const SDL_TYPE = 'application/graphql; charset=utf-8';

/** The schema with its directives, which introspection does not show; it is printed when it is first asked for. */
export async function schemaRoute(app: FastifyInstance, { schema }: { schema: GraphQLSchema }): Promise<void> {
  let text: string | undefined;
  app.route({
    method: ['GET', 'HEAD'],
    url: URL,
    config: { metering: 'free', operation: 'docs' },
    handler: (request, reply) => {
      text ??= printed(schema);
      return sendRead(request, reply, text, SDL_TYPE);
    },
  });
  answerOtherMethods(app, URL, ['GET', 'HEAD']);
}
