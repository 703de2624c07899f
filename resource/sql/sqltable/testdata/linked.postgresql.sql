CREATE TABLE "memberships" (
	"user_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"rev" text COLLATE "C" NOT NULL,
	"deleted_at" timestamptz,
	PRIMARY KEY ("user_id", "group_id")
);
