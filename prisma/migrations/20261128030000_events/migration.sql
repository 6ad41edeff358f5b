-- The change feed: one row for each write of an object, written in the transaction of the write.
--
-- A row has no position at first. Positions are given after the commit, by one transaction at a time, so that no row appears
-- behind a reader. The times are those of the writes, under the locks of their objects, so they are not those of transactions.
CREATE TABLE "events" (
    "id" BIGSERIAL NOT NULL,
    "position" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "topic" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "object_id" TEXT NOT NULL,
    "request_id" TEXT,
    "actor" TEXT,
    "owner" TEXT,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- A new row is only in the primary key and in the first of these indexes. The others get it together with its position.
CREATE INDEX "events_new_idx" ON "events"("id") WHERE "position" IS NULL;
CREATE UNIQUE INDEX "events_position_idx" ON "events"("position") WHERE "position" IS NOT NULL;

-- The last position that was given, with the id and the time of its event. They stay when the event is deleted. The table has
-- one row.
CREATE TABLE "last_event" (
    "is_only" BOOLEAN NOT NULL DEFAULT true,
    "position" BIGINT NOT NULL DEFAULT 0,
    "id" BIGINT NOT NULL DEFAULT 0,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "last_event_pkey" PRIMARY KEY ("is_only"),
    CONSTRAINT "last_event_is_only_check" CHECK ("is_only")
);
INSERT INTO "last_event" DEFAULT VALUES;
