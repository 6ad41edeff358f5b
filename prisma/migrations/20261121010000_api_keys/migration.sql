CREATE TYPE "plan" AS ENUM ('FREE', 'PRO', 'BUSINESS', 'ENTERPRISE');
CREATE TYPE "scope" AS ENUM ('READ', 'WRITE', 'ADMIN');

CREATE TABLE "api_keys" (
    "id" TEXT COLLATE "C" NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "name" TEXT NOT NULL,
    "plan" "plan" NOT NULL,
    "scopes" "scope"[],
    "per_minute" INTEGER,
    "per_day" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "api_keys_id_check" CHECK ("id" ~ '^[0-9a-z]{12}$'),
    CONSTRAINT "api_keys_secret_hash_check" CHECK (octet_length("secret_hash") = 32),
    CONSTRAINT "api_keys_name_check" CHECK (char_length("name") BETWEEN 1 AND 255),
    CONSTRAINT "api_keys_quota_check" CHECK (
        CASE WHEN "plan" = 'ENTERPRISE' THEN "per_minute" >= 1 AND "per_day" >= 1
        ELSE "per_minute" IS NULL AND "per_day" IS NULL END
    )
);

CREATE INDEX "api_keys_created_at_id_idx" ON "api_keys"("created_at", "id");
