CREATE TABLE `shop`.`articles` (
	`id` TEXT NOT NULL PRIMARY KEY,
	`parent_id` TEXT REFERENCES `articles`,
	`email` TEXT NOT NULL UNIQUE,
	`phone` TEXT NOT NULL,
	`code` INTEGER NOT NULL,
	`weight` REAL NOT NULL,
	`done` INTEGER,
	`made_at` TEXT NOT NULL,
	`sent_at` INTEGER,
	`photo` BLOB NOT NULL,
	`tags` TEXT NOT NULL,
	`labels` TEXT NOT NULL,
	`says 'hi'` TEXT NOT NULL,
	`changed_at` TEXT NOT NULL,
	`rev` TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX `shop`.`articles_phone_key` ON `articles` (`phone`) WHERE `phone` <> '';
CREATE INDEX `shop`.`articles_made_at_idx` ON `articles` (`made_at`, `id`);
CREATE INDEX `shop`.`articles_sent_at_idx` ON `articles` (`sent_at`, `id`);
CREATE TABLE `shop`.`articles_deleted` (
	`id` TEXT NOT NULL PRIMARY KEY,
	`deleted_at` TEXT NOT NULL
) STRICT;
