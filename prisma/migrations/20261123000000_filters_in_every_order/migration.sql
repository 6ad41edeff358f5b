-- Every combination of the filters by value (category and status of pets, pet and completion of orders) begins an index
-- for every order, so that a page is an interval of one however many rows are not on it.
--
-- While an index is built its table can be read, but not written: a second or two for each million rows. Where that is too
-- long, create them before this version starts, with CREATE INDEX CONCURRENTLY and the same names; they are then kept.
CREATE INDEX IF NOT EXISTS "pets_category_id_status_id_idx" ON "pets"("category_id", "status", "id");
CREATE INDEX IF NOT EXISTS "pets_category_id_status_name_id_idx" ON "pets"("category_id", "status", "name", "id");
CREATE INDEX IF NOT EXISTS "orders_pet_id_complete_id_idx" ON "orders"("pet_id", "complete", "id");
CREATE INDEX IF NOT EXISTS "orders_complete_ship_date_id_idx" ON "orders"("complete", (coalesce("ship_date", 'infinity')), "id");
CREATE INDEX IF NOT EXISTS "orders_pet_id_complete_ship_date_id_idx" ON "orders"("pet_id", "complete", (coalesce("ship_date", 'infinity')), "id");
