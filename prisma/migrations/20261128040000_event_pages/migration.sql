-- Pages of the change feed by topic and kind, for callers that see events without an owner, events of every owner, and events
-- of one owner. An event gets its index entries together with its position.
CREATE INDEX "events_unowned_idx" ON "events"("topic", "kind", "position") WHERE "position" IS NOT NULL AND "owner" IS NULL;
CREATE INDEX "events_owned_idx" ON "events"("topic", "kind", "position") WHERE "position" IS NOT NULL AND "owner" IS NOT NULL;
CREATE INDEX "events_owner_idx" ON "events"("owner", "topic", "kind", "position") WHERE "position" IS NOT NULL AND "owner" IS NOT NULL;
