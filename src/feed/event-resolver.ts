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
      'The change feed: the events in the order of the changes, one page at a time. `pageInfo.endCursor` is never null. Pass it as `after` to read the events that follow, now or later. This cursor also moves past events that the page leaves out.',
    ),
  )
  events(@Args(() => EventPageArgs) args: EventPageArgs, @Ctx() context: Context) {
    return this.feed.page(context, args);
  }

  @Weighs(WEIGHTS.references)
  @FieldResolver(
    () => Node,
    nullable(
      'The current state of the object; null if the object was deleted, has no `nodeId`, or is not visible to the caller.',
    ),
  )
  node(@Root() event: Event, @Ctx() context: Context) {
    return this.feed.node(context, event);
  }
}
