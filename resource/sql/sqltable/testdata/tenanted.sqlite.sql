CREATE TABLE `users` (
	`id` TEXT NOT NULL PRIMARY KEY,
	`tenant_id` TEXT NOT NULL,
	`email` TEXT NOT NULL,
	`login` TEXT NOT NULL UNIQUE,
	`phone` TEXT NOT NULL,
	`rev` TEXT NOT NULL,
	`deleted_at` TEXT,
	UNIQUE (`tenant_id`, `email`)
) STRICT;
CREATE UNIQUE INDEX `users_tenant_id_phone_key` ON `users` (`tenant_id`, `phone`) WHERE `phone` <> '';
