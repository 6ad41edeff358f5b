import { Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context';
import { Paged, WEIGHTS, Weighs } from '../graphql/cost-directives';
import { Errors, nullable, RateLimited, RequiresScope, Stability } from '../graphql/directives';
import { Node } from '../graphql/node';
import type { EventService } from './event-service';
import { Event, EventConnection, EventPageArgs } from './types';

@Resolver(() => Event)
export class EventResolver {
  constructor(private readonly feed: EventService) {}

  @Stability('EXPERIMENTAL')
  @RateLimited()
  @RequiresScope('READ')
  @Paged('first')
  @Errors('BAD_USER_INPUT', 'FORBIDDEN', 'CURSOR_EXPIRED')
  @Query(
    () => EventConnection,
    nullable(
      'The change feed: what has changed, in the order of the changes, one page at a time. `pageInfo.endCursor` is never null: with it as `after`, the feed goes on, now or later. It moves on over events that the page leaves out.',
    ),
  )
  events(@Args(() => EventPageArgs) args: EventPageArgs, @Ctx() context: Context) {
    return this.feed.page(context, args);
  }

  @Weighs(WEIGHTS.references)
  @FieldResolver(
    () => Node,
    nullable('The current state of the object; null if it is gone, has no `nodeId`, or the caller may not see it.'),
  )
  node(@Root() event: Event, @Ctx() context: Context) {
    return this.feed.node(context, event);
  }
}
