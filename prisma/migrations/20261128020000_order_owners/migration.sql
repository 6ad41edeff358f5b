-- The end user to whom an order belongs; null for orders of keys and anonymous callers.
--
-- The change below takes no time, but needs the table for itself, and while it waits for a long transaction, every other
-- statement would wait behind it. So it gives up after half a second, lets the others pass, and tries again.
DO $$
DECLARE
    attempts int := 0;
BEGIN
    LOOP
        BEGIN
            SET LOCAL lock_timeout = '500ms';
            LOCK TABLE "orders" IN ACCESS EXCLUSIVE MODE;
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

ALTER TABLE "orders" ADD COLUMN "owner" TEXT;

-- Orders of users, and the pages of orders inside pets. Orders without an owner are found by the other indexes.
CREATE INDEX "orders_owner_id_idx" ON "orders"("owner", "id") WHERE "owner" IS NOT NULL;
CREATE INDEX "orders_owner_pet_id_id_idx" ON "orders"("owner", "pet_id", "id") WHERE "owner" IS NOT NULL;
-- Orders without an owner, when most orders belong to users.
CREATE INDEX "orders_unowned_id_idx" ON "orders"("id") WHERE "owner" IS NULL;
