-- Names that begin with the text that is searched for are ranges of the indexes by name; the trigram indexes now have what
-- follows the first character of each name, by which the other names that contain the text are found.
--
-- While an index is built its table can be read, but not written: three seconds for each million rows. Where that is too
-- long, create them before this version starts, with CREATE INDEX CONCURRENTLY and the same names; they are then kept. The
-- version before finds the same names without the indexes that are dropped, but more slowly.
CREATE INDEX IF NOT EXISTS "categories_name_rest_idx" ON "categories" USING gin ((substr("name" COLLATE "default", 2)) gin_trgm_ops);
CREATE INDEX IF NOT EXISTS "pets_name_rest_idx" ON "pets" USING gin ((substr("name" COLLATE "default", 2)) gin_trgm_ops);
DROP INDEX IF EXISTS "categories_name_search_idx";
DROP INDEX IF EXISTS "pets_name_search_idx";
