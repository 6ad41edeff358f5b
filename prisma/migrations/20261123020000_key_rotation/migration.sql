-- The secret before the last rotation of a key, and until when it is still accepted.
ALTER TABLE "api_keys"
    ADD COLUMN "previous_secret_hash" BYTEA,
    ADD COLUMN "previous_secret_until" TIMESTAMPTZ(3),
    ADD CONSTRAINT "api_keys_previous_secret_check" CHECK (
        CASE WHEN "previous_secret_hash" IS NULL THEN "previous_secret_until" IS NULL
        ELSE octet_length("previous_secret_hash") = 32 AND "previous_secret_until" IS NOT NULL END
    );
