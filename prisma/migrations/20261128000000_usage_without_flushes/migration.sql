-- Counts are added to "usage_days" by one statement. The version before does not use this table either, so its instances may
-- run beside this version.
DROP TABLE IF EXISTS "usage_flushes";
