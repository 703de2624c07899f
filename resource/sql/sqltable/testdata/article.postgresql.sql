CREATE TABLE "shop"."articles" (
	"id" text COLLATE "C" NOT NULL PRIMARY KEY,
	"parent_id" uuid REFERENCES "shop"."articles",
	"email" text COLLATE "C" NOT NULL UNIQUE,
	"phone" text COLLATE "C" NOT NULL,
	"code" bigint NOT NULL,
	"weight" real NOT NULL,
	"done" boolean,
	"made_at" timestamptz NOT NULL,
	"sent_at" bigint,
	"photo" bytea NOT NULL,
	"tags" jsonb NOT NULL,
	"labels" jsonb NOT NULL,
	"says 'hi'" text COLLATE "C" NOT NULL,
	"changed_at" timestamptz NOT NULL,
	"rev" text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX "articles_phone_key" ON "shop"."articles" ("phone") WHERE "phone" <> '';
CREATE INDEX "articles_made_at_idx" ON "shop"."articles" ("made_at", "id");
CREATE INDEX "articles_sent_at_idx" ON "shop"."articles" ("sent_at" NULLS FIRST, "id");
CREATE TABLE "shop"."articles_deleted" (
	"id" text COLLATE "C" NOT NULL PRIMARY KEY,
	"deleted_at" timestamptz NOT NULL
);
