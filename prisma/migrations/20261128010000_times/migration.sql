-- When rows were created and last written. Rows from before this migration have no times: filling them would rewrite the tables.
--
-- The changes below take no time, but need all tables for themselves, and while they wait for a long transaction, every other
-- statement would wait behind them. So they give up after half a second, let the others pass, and try again.
DO $$
DECLARE
    attempts int := 0;
BEGIN
    LOOP
        BEGIN
            SET LOCAL lock_timeout = '500ms';
            LOCK TABLE "orders", "inventory", "pets", "categories" IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            attempts := attempts + 1;
            IF attempts = 60 THEN
                RAISE;
            END IF;
            PERFORM pg_sleep(0.5);
        END;
    END LOOP;
    SET LOCAL lock_timeout = 0;
END $$;

ALTER TABLE "pets" ADD COLUMN "created_at" TIMESTAMPTZ, ADD COLUMN "updated_at" TIMESTAMPTZ;
ALTER TABLE "categories" ADD COLUMN "created_at" TIMESTAMPTZ, ADD COLUMN "updated_at" TIMESTAMPTZ;
ALTER TABLE "orders" ADD COLUMN "created_at" TIMESTAMPTZ, ADD COLUMN "updated_at" TIMESTAMPTZ;
ALTER TABLE "inventory" ADD COLUMN "created_at" TIMESTAMPTZ, ADD COLUMN "updated_at" TIMESTAMPTZ;

-- A default that is added together with its column would fill the rows that exist.
ALTER TABLE "pets" ALTER COLUMN "created_at" SET DEFAULT now(), ALTER COLUMN "updated_at" SET DEFAULT now();
ALTER TABLE "categories" ALTER COLUMN "created_at" SET DEFAULT now(), ALTER COLUMN "updated_at" SET DEFAULT now();
ALTER TABLE "orders" ALTER COLUMN "created_at" SET DEFAULT now(), ALTER COLUMN "updated_at" SET DEFAULT now();
ALTER TABLE "inventory" ALTER COLUMN "created_at" SET DEFAULT now(), ALTER COLUMN "updated_at" SET DEFAULT now();

-- Every write moves the time forward, so that no two states of a row are equal, even if the clock was set back. `npm run
-- restore` ends statements at the end of a line, so the body has one line.
CREATE FUNCTION "set_updated_at"() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW."updated_at" := greatest(clock_timestamp(), OLD."updated_at" + interval '1 microsecond'); RETURN NEW; END$$;

CREATE TRIGGER "pets_updated_at" BEFORE UPDATE ON "pets" FOR EACH ROW EXECUTE FUNCTION "set_updated_at"();
CREATE TRIGGER "categories_updated_at" BEFORE UPDATE ON "categories" FOR EACH ROW EXECUTE FUNCTION "set_updated_at"();
CREATE TRIGGER "orders_updated_at" BEFORE UPDATE ON "orders" FOR EACH ROW EXECUTE FUNCTION "set_updated_at"();
CREATE TRIGGER "inventory_updated_at" BEFORE UPDATE ON "inventory" FOR EACH ROW EXECUTE FUNCTION "set_updated_at"();
