CREATE TABLE `users` (
	`id` TEXT NOT NULL PRIMARY KEY,
	`tenant_id` TEXT NOT NULL,
	`email` TEXT NOT NULL,
	`login` TEXT NOT NULL,
	`phone` TEXT NOT NULL,
	`rev` TEXT NOT NULL,
	`deleted_at` TEXT
) STRICT;
CREATE UNIQUE INDEX `users_tenant_id_email_key` ON `users` (`tenant_id`, `email`) WHERE `deleted_at` IS NULL;
CREATE UNIQUE INDEX `users_login_key` ON `users` (`login`) WHERE `deleted_at` IS NULL;
CREATE UNIQUE INDEX `users_tenant_id_phone_key` ON `users` (`tenant_id`, `phone`) WHERE `phone` <> '' AND `deleted_at` IS NULL;
CREATE INDEX `users_tenant_id_idx` ON `users` (`tenant_id`, `id`) WHERE `deleted_at` IS NULL;
