-- What each API key has used per day in UTC; the caller '' stands for all anonymous callers together.
CREATE TABLE "usage_days" (
    "caller" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "requests" BIGINT NOT NULL DEFAULT 0,
    "refused" BIGINT NOT NULL DEFAULT 0,
    "bans" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_days_pkey" PRIMARY KEY ("caller", "day"),
    CONSTRAINT "usage_days_counts_check" CHECK ("requests" >= 0 AND "refused" >= 0 AND "bans" >= 0)
);

CREATE INDEX "usage_days_day_idx" ON "usage_days" ("day");

-- The last batch of counts that each process has added, so that one that is sent again is not added twice.
CREATE TABLE "usage_flushes" (
    "process" TEXT NOT NULL,
    "number" BIGINT NOT NULL,
    "flushed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_flushes_pkey" PRIMARY KEY ("process")
);
