-- Trigram indexes serve the case-insensitive "name contains" filters.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TYPE "pet_status" AS ENUM ('available', 'pending', 'sold');

-- Names are ordered by code point (COLLATE "C"), so that a cursor means the same on every machine;
-- they are searched under the database's own collation, which knows the cases of every script.
CREATE TABLE "categories" (
    "id" BIGSERIAL NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT,

    CONSTRAINT "categories_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "categories_name_check" CHECK (char_length("name") BETWEEN 1 AND 255),
    CONSTRAINT "categories_description_check" CHECK (char_length("description") <= 2000)
);

CREATE TABLE "pets" (
    "id" BIGSERIAL NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "status" "pet_status" NOT NULL DEFAULT 'available',
    "category_id" BIGINT NOT NULL,

    CONSTRAINT "pets_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pets_name_check" CHECK (char_length("name") BETWEEN 1 AND 255),
    CONSTRAINT "pets_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "categories"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "orders" (
    "id" BIGSERIAL NOT NULL,
    "pet_id" BIGINT,
    "quantity" INTEGER,
    "ship_date" TIMESTAMPTZ(3),
    "complete" BOOLEAN NOT NULL DEFAULT false,
    "reserved" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "orders_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "orders_quantity_check" CHECK ("quantity" >= 1),
    CONSTRAINT "orders_reserved_check" CHECK ("reserved" = 0 OR ("pet_id" IS NOT NULL AND "reserved" = "quantity")),
    CONSTRAINT "orders_pet_id_fkey" FOREIGN KEY ("pet_id") REFERENCES "pets"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "inventory" (
    "pet_id" BIGINT NOT NULL,
    "quantity" INTEGER NOT NULL,

    CONSTRAINT "inventory_pkey" PRIMARY KEY ("pet_id"),
    CONSTRAINT "inventory_quantity_check" CHECK ("quantity" >= 0),
    CONSTRAINT "inventory_pet_id_fkey" FOREIGN KEY ("pet_id") REFERENCES "pets"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "categories_name_id_idx" ON "categories"("name", "id");
CREATE INDEX "pets_name_id_idx" ON "pets"("name", "id");
CREATE INDEX "pets_status_id_idx" ON "pets"("status", "id");
CREATE INDEX "pets_status_name_id_idx" ON "pets"("status", "name", "id");
CREATE INDEX "pets_category_id_id_idx" ON "pets"("category_id", "id");
CREATE INDEX "pets_category_id_name_id_idx" ON "pets"("category_id", "name", "id");
CREATE INDEX "orders_pet_id_id_idx" ON "orders"("pet_id", "id");
CREATE INDEX "orders_complete_id_idx" ON "orders"("complete", "id");
CREATE INDEX "inventory_quantity_pet_id_idx" ON "inventory"("quantity", "pet_id");

CREATE INDEX "categories_name_search_idx" ON "categories" USING gin (("name" COLLATE "default") gin_trgm_ops);
CREATE INDEX "pets_name_search_idx" ON "pets" USING gin (("name" COLLATE "default") gin_trgm_ops);
-- Orders without a ship date come after all that have one.
CREATE INDEX "orders_ship_date_id_idx" ON "orders"((coalesce("ship_date", 'infinity')), "id");
CREATE INDEX "orders_pet_id_ship_date_id_idx" ON "orders"("pet_id", (coalesce("ship_date", 'infinity')), "id");
