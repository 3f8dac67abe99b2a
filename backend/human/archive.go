package human

import "time"

// Why an archive was made.
const (
	ArchiveDaily = "daily"
	ArchiveAsked = "asked"
)

// An Archive is a backup of Deskbell's data: the database and all files that belong to it, as they were at one moment.
type Archive struct {
	ID         string           `json:"archive_id" doc:"When it was made, as its folder is called."`
	At         time.Time        `json:"at"`
	Why        string           `json:"why" enum:"daily,asked"`
	Version    string           `json:"version" doc:"Of the Deskbell that made it."`
	Format     int              `json:"format" doc:"Of the backup itself. A Deskbell that knows only older ones does not restore it."`
	Database   ArchivedDatabase `json:"database"`
	Files      int              `json:"files" doc:"How many there are besides the database."`
	Bytes      int64            `json:"bytes" doc:"What the database and the files take once they are restored."`
	New        int64            `json:"new_bytes" doc:"What it added to the folder: files that an older backup has as well are stored once."`
	VerifiedAt time.Time        `json:"verified_at" doc:"When the database was opened from the backup and found to be complete, and each new file was read back."`
	Problem    string           `json:"problem,omitempty" doc:"What is wrong with it; then it cannot be restored, and the rest says nothing."`
}

// An ArchivedDatabase says what is in a database.
type ArchivedDatabase struct {
	Format     int    `json:"format" doc:"Of the database. An older one is upgraded at the next start."`
	Head       uint64 `json:"head" doc:"The number of the last entry of the journal."`
	Link       string `json:"link" doc:"Where the journal's chain ends, in hexadecimal."`
	Operations int    `json:"operations"`
	Entries    int    `json:"entries"`
	Recordings int    `json:"recordings"`
}

// An ArchiveState is what there is of archives, and what comes next.
type ArchiveState struct {
	Folder   string    `json:"folder"`
	SameDisk bool      `json:"same_disk" doc:"The folder is on the same disk as the data: a disk that breaks takes both."`
	Daily    bool      `json:"daily"`
	Next     time.Time `json:"next_at,omitzero" doc:"When the next daily one is made."`
	Last     time.Time `json:"last_at,omitzero" doc:"When the last good one was made."`
	Running  bool      `json:"running" doc:"One is being made."`
	Done     int64     `json:"done_bytes" doc:"How many bytes of it were looked at so far."`
	Total    int64     `json:"total_bytes" doc:"Of about how many."`
	Problem  string    `json:"problem,omitempty" doc:"Why the last attempt failed, or why the folder cannot be used."`
	Archives []Archive `json:"archives" doc:"The newest first."`
}

// An ArchivedOperation is an operation that an archive has.
type ArchivedOperation struct {
	ID          OperationID `json:"operation_id"`
	Kind        Kind        `json:"action_type"`
	State       State       `json:"state"`
	Description string      `json:"description"`
	AgentID     string      `json:"agent_id"`
	CreatedAt   time.Time   `json:"created_at"`
}

// An ArchiveDifference is how an archive differs from the database of today.
type ArchiveDifference struct {
	Archive Archive             `json:"archive"`
	Missing []ArchivedOperation `json:"missing" doc:"Operations that the backup has and today's database does not, the newest first; at most 1000. They can be restored one by one."`
	More    int                 `json:"more" doc:"How many are missing besides these."`
	Newer   int                 `json:"newer" doc:"Operations that only today's database has. Restoring everything sets them aside."`
	Changed int                 `json:"changed" doc:"Operations that both have, and that went on since."`
	Problem string              `json:"problem,omitempty" doc:"Why today's database could not be compared."`
}

// An ArchiveRestored is what was restored.
type ArchiveRestored struct {
	Operations []OperationID `json:"operations"`
	Files      int           `json:"files"`
	Kept       string        `json:"kept,omitempty" doc:"The folder that has what was there before."`
}
