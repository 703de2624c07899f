CREATE TABLE `memberships` (
	`user_id` TEXT NOT NULL,
	`group_id` TEXT NOT NULL,
	`rev` TEXT NOT NULL,
	`deleted_at` TEXT,
	PRIMARY KEY (`user_id`, `group_id`)
) STRICT;
