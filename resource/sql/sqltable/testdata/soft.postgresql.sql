CREATE TABLE "users" (
	"id" text COLLATE "C" NOT NULL PRIMARY KEY,
	"tenant_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"login" text COLLATE "C" NOT NULL,
	"phone" text COLLATE "C" NOT NULL,
	"rev" text COLLATE "C" NOT NULL,
	"deleted_at" timestamptz
);
CREATE UNIQUE INDEX "users_tenant_id_email_key" ON "users" ("tenant_id", "email") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "users_login_key" ON "users" ("login") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "users_tenant_id_phone_key" ON "users" ("tenant_id", "phone") WHERE "phone" <> '' AND "deleted_at" IS NULL;
CREATE INDEX "users_tenant_id_idx" ON "users" ("tenant_id", "id") WHERE "deleted_at" IS NULL;
