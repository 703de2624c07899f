CREATE TABLE "users" (
	"id" text COLLATE "C" NOT NULL PRIMARY KEY,
	"tenant_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"login" text COLLATE "C" NOT NULL UNIQUE,
	"phone" text COLLATE "C" NOT NULL,
	"rev" text COLLATE "C" NOT NULL,
	"deleted_at" timestamptz,
	UNIQUE ("tenant_id", "email")
);
CREATE UNIQUE INDEX "users_tenant_id_phone_key" ON "users" ("tenant_id", "phone") WHERE "phone" <> '';
