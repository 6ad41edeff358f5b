-- An answer is written in the transaction of the change that it tells of, so there is never one without the other.
CREATE TABLE "idempotency_keys" (
    "caller" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "answer" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("caller", "key"),
    CONSTRAINT "idempotency_keys_key_check" CHECK (char_length("key") BETWEEN 1 AND 255),
    CONSTRAINT "idempotency_keys_fingerprint_check" CHECK (octet_length("fingerprint") = 32),
    CONSTRAINT "idempotency_keys_answer_check" CHECK (octet_length("answer") <= 1048576)
);

CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");
