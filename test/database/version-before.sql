-- A database of the gateway before the migration 20261123000000_filters_in_every_order: pg_dump of PostgreSQL 15, after requests to the build of then.
-- By hand: stored answers never expire. Its keys are in the test.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

CREATE TYPE public.pet_status AS ENUM (
    'available',
    'pending',
    'sold'
);

CREATE TYPE public.plan AS ENUM (
    'FREE',
    'PRO',
    'BUSINESS',
    'ENTERPRISE'
);

CREATE TYPE public.scope AS ENUM (
    'READ',
    'WRITE',
    'ADMIN'
);

CREATE TABLE public._prisma_migrations (
    id character varying(36) NOT NULL,
    checksum character varying(64) NOT NULL,
    finished_at timestamp with time zone,
    migration_name character varying(255) NOT NULL,
    logs text,
    rolled_back_at timestamp with time zone,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_steps_count integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.api_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    secret_hash bytea NOT NULL,
    name text NOT NULL,
    plan public.plan NOT NULL,
    scopes public.scope[],
    per_minute integer,
    per_day integer,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone,
    CONSTRAINT api_keys_id_check CHECK ((id ~ '^[0-9a-z]{12}$'::text)),
    CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT api_keys_quota_check CHECK (
CASE
    WHEN (plan = 'ENTERPRISE'::public.plan) THEN ((per_minute >= 1) AND (per_day >= 1))
    ELSE ((per_minute IS NULL) AND (per_day IS NULL))
END),
    CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);

CREATE TABLE public.categories (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    description text,
    CONSTRAINT categories_description_check CHECK ((char_length(description) <= 2000)),
    CONSTRAINT categories_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);

CREATE SEQUENCE public.categories_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.categories_id_seq OWNED BY public.categories.id;

CREATE TABLE public.idempotency_keys (
    caller text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL,
    answer text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT idempotency_keys_answer_check CHECK ((octet_length(answer) <= 1048576)),
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
    CONSTRAINT idempotency_keys_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 255)))
);

CREATE TABLE public.inventory (
    pet_id bigint NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT inventory_quantity_check CHECK ((quantity >= 0))
);

CREATE TABLE public.orders (
    id bigint NOT NULL,
    pet_id bigint,
    quantity integer,
    ship_date timestamp(3) with time zone,
    complete boolean DEFAULT false NOT NULL,
    reserved integer DEFAULT 0 NOT NULL,
    CONSTRAINT orders_quantity_check CHECK ((quantity >= 1)),
    CONSTRAINT orders_reserved_check CHECK (((reserved = 0) OR ((pet_id IS NOT NULL) AND (reserved = quantity))))
);

CREATE SEQUENCE public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.orders_id_seq OWNED BY public.orders.id;

CREATE TABLE public.pets (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    status public.pet_status DEFAULT 'available'::public.pet_status NOT NULL,
    category_id bigint NOT NULL,
    CONSTRAINT pets_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);

CREATE SEQUENCE public.pets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.pets_id_seq OWNED BY public.pets.id;

ALTER TABLE ONLY public.categories ALTER COLUMN id SET DEFAULT nextval('public.categories_id_seq'::regclass);

ALTER TABLE ONLY public.orders ALTER COLUMN id SET DEFAULT nextval('public.orders_id_seq'::regclass);

ALTER TABLE ONLY public.pets ALTER COLUMN id SET DEFAULT nextval('public.pets_id_seq'::regclass);

INSERT INTO public._prisma_migrations VALUES ('6338535c-3cb8-4067-9d33-559c6df7cde6', '1a73bcf9bc1f9dfde0dcdd9627551511c258daf6264ec1c1164e4152823e0fef', '2026-11-23 06:24:16.6661+00', '20261121000000_petstore', NULL, NULL, '2026-11-23 06:24:16.483541+00', 1);
INSERT INTO public._prisma_migrations VALUES ('bdf5c4e6-1680-4a55-9153-9d5b7e6162fa', 'd39d2ce776dfdfaaa6fcea279cd4d347365253e6b3d0372f8ea384b188692ed1', '2026-11-23 06:24:16.731907+00', '20261121010000_api_keys', NULL, NULL, '2026-11-23 06:24:16.679584+00', 1);
INSERT INTO public._prisma_migrations VALUES ('e59264b2-0a13-4cb2-b153-7a1ee171b09c', 'f60ca1b16210f7ca0257d56e4a0603ee3a9dedb3dbb607b12b3f47cec1dc0d9f', '2026-11-23 06:24:16.788091+00', '20261121020000_idempotency_keys', NULL, NULL, '2026-11-23 06:24:16.737461+00', 1);

INSERT INTO public.api_keys VALUES ('versionbefor', '\xef268b259aecb3bc0f74560154943628ac08bfb9d30ecbce29190e522401864b', 'first admin key', 'ENTERPRISE', '{ADMIN}', 10000, 1000000, '2026-11-23 06:24:18.065+00', NULL, NULL, '2026-11-23 06:24:19.827+00');
INSERT INTO public.api_keys VALUES ('vuhdus54e1c6', '\xc5eea14d9f3192cefd91ace7c3fd661d81a9caeab7bb9a0d5c7ba587448e5f05', 'Large', 'ENTERPRISE', '{READ}', 500, 70000, '2026-11-23 06:24:21.035+00', NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('ecv53p2pivmf', '\x068909067bb6775abe26d7ad130fdde6b964878de508d412683fb5b39f793ebc', 'Old', 'BUSINESS', '{READ,WRITE,ADMIN}', NULL, NULL, '2026-11-23 06:24:21.094+00', '2100-01-01 00:00:00+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('5r2cplz473ac', '\xd682544b59048432f0d81b857932464265e7eb935f79bde4271f399db5f14c9c', 'Gone', 'FREE', '{READ}', NULL, NULL, '2026-11-23 06:24:21.072+00', NULL, '2026-11-23 06:24:21.127+00', NULL);
INSERT INTO public.api_keys VALUES ('dspjetwm3m1z', '\x174fd25fb51cbf19380c0e5fd6276dfd8a445777e2d4c02ca947158bb3bfef3b', 'Acme', 'PRO', '{READ,WRITE}', NULL, NULL, '2026-11-23 06:24:20.958+00', NULL, NULL, '2026-11-23 06:24:21.186+00');

INSERT INTO public.categories VALUES (1, 'Dogs', 'Loyal');
INSERT INTO public.categories VALUES (2, 'Cats', NULL);

INSERT INTO public.idempotency_keys VALUES ('versionbefor', 'order-of-two-rex', '\x50101ccbfb714d4c5392fb2b2485c7f465262e87e693ef8155772f3ff599a668', '{"data":{"placeOrder":{"id":"1","petId":"1","quantity":2,"shipDate":null,"complete":false}},"extensions":{"cost":{"operation":1,"remaining":{"minute":9992,"day":999992}}}}', '2100-01-01 00:00:00+00');
INSERT INTO public.idempotency_keys VALUES ('versionbefor', 'rename-bello', '\x57c4fc34aa46af2646567b5655404f0eed984ae5764f11ab688c9202c9109da1', '{"data":{"updatePet":{"id":"2","name":"Bella","status":"pending","categoryId":"1"}},"extensions":{"cost":{"operation":1,"remaining":{"minute":9989,"day":999989}}}}', '2100-01-01 00:00:00+00');
INSERT INTO public.idempotency_keys VALUES ('versionbefor', 'create-tom', '\x403e8832ecaf75af5df37388b013a274b745b2d8e00f64f350e5d3a93d567dc3', '{"data":{"createPet":{"id":"4","name":"Tom","category":{"name":"Cats"}}},"extensions":{"cost":{"operation":1,"remaining":{"minute":9988,"day":999988}}}}', '2100-01-01 00:00:00+00');
INSERT INTO public.idempotency_keys VALUES ('dspjetwm3m1z', 'too-many', '\x2ca7936825a71f0bf378c0bef5f6d208cdff0eee1e3fa1ae347fb5f101a561ae', '{"errors":[{"message":"Fewer than 100 units of pet 1 are in stock.","locations":[{"line":1,"column":42}],"path":["placeOrder"],"extensions":{"code":"INSUFFICIENT_STOCK","status":409,"requestId":"7e0b4de3-dc60-4a0b-abda-d687de1d34fc"}}],"data":null,"extensions":{"cost":{"operation":1,"remaining":{"minute":298,"day":9998}}}}', '2100-01-01 00:00:00+00');

INSERT INTO public.inventory VALUES (2, 0);
INSERT INTO public.inventory VALUES (1, 3);

INSERT INTO public.orders VALUES (1, 1, 2, NULL, false, 2);
INSERT INTO public.orders VALUES (2, 3, 1, '2026-11-20 07:30:00+00', true, 0);
INSERT INTO public.orders VALUES (3, NULL, NULL, NULL, false, 0);

INSERT INTO public.pets VALUES (1, 'Rex', 'available', 1);
INSERT INTO public.pets VALUES (3, 'Ümläut O''Hara 🐈', 'sold', 2);
INSERT INTO public.pets VALUES (2, 'Bella', 'pending', 1);
INSERT INTO public.pets VALUES (4, 'Tom', 'available', 2);

SELECT pg_catalog.setval('public.categories_id_seq', 2, true);

SELECT pg_catalog.setval('public.orders_id_seq', 3, true);

SELECT pg_catalog.setval('public.pets_id_seq', 4, true);

ALTER TABLE ONLY public._prisma_migrations
    ADD CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.categories
    ADD CONSTRAINT categories_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, key);

ALTER TABLE ONLY public.inventory
    ADD CONSTRAINT inventory_pkey PRIMARY KEY (pet_id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pets
    ADD CONSTRAINT pets_pkey PRIMARY KEY (id);

CREATE INDEX api_keys_created_at_id_idx ON public.api_keys USING btree (created_at, id);

CREATE INDEX categories_name_id_idx ON public.categories USING btree (name, id);

CREATE INDEX categories_name_search_idx ON public.categories USING gin (name COLLATE "default" public.gin_trgm_ops);

CREATE INDEX idempotency_keys_expires_at_idx ON public.idempotency_keys USING btree (expires_at);

CREATE INDEX inventory_quantity_pet_id_idx ON public.inventory USING btree (quantity, pet_id);

CREATE INDEX orders_complete_id_idx ON public.orders USING btree (complete, id);

CREATE INDEX orders_pet_id_id_idx ON public.orders USING btree (pet_id, id);

CREATE INDEX orders_pet_id_ship_date_id_idx ON public.orders USING btree (pet_id, COALESCE(ship_date, 'infinity'::timestamp with time zone), id);

CREATE INDEX orders_ship_date_id_idx ON public.orders USING btree (COALESCE(ship_date, 'infinity'::timestamp with time zone), id);

CREATE INDEX pets_category_id_id_idx ON public.pets USING btree (category_id, id);

CREATE INDEX pets_category_id_name_id_idx ON public.pets USING btree (category_id, name, id);

CREATE INDEX pets_name_id_idx ON public.pets USING btree (name, id);

CREATE INDEX pets_name_search_idx ON public.pets USING gin (name COLLATE "default" public.gin_trgm_ops);

CREATE INDEX pets_status_id_idx ON public.pets USING btree (status, id);

CREATE INDEX pets_status_name_id_idx ON public.pets USING btree (status, name, id);

ALTER TABLE ONLY public.inventory
    ADD CONSTRAINT inventory_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES public.pets(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES public.pets(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.pets
    ADD CONSTRAINT pets_category_id_fkey FOREIGN KEY (category_id) REFERENCES public.categories(id) ON UPDATE CASCADE ON DELETE RESTRICT;
