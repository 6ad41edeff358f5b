-- A key may share the quota of another key. Its own plan is then not used.
ALTER TABLE "api_keys" ADD COLUMN "shares_quota_of" TEXT COLLATE "C" REFERENCES "api_keys" ("id");
