-- Lists of tasks that operators keep, to put into plans.
CREATE TABLE plan_presets (
	preset_id TEXT PRIMARY KEY,
	name      TEXT NOT NULL UNIQUE,
	data      TEXT NOT NULL -- plan.Preset as JSON
) STRICT, WITHOUT ROWID;
