package protocol

// Commands about what differs in the session's directory from the last commit.
const (
	DoChanges Verb = "changes"
	DoDiff    Verb = "diff"
)

var changesCommands = []CommandType{
	{
		Verb: DoChanges, Data: of[Empty], Result: of[ChangesResult], Role: RoleObserver, Session: true,
		Words: "the changes in the directory",
		Routes: []Route{
			{
				Name: "getChanges", Method: "GET", Path: "/api/sessions/{id}/changes",
				Summary: "List the files of the directory that differ from the last commit.", Query: true,
			},
		},
	},
	{
		// The contents of files may be known to nobody but the user, unlike those in the transcript.
		Verb: DoDiff, Data: of[DiffData], Result: of[DiffResult], Role: RoleOperator, Session: true,
		Words:    "the differences of a file",
		Examples: [2]string{`{"path":"cache/lru.go"}`, `{"path":"notes/"}`},
		Routes: []Route{
			{
				Name: "getDiff", Method: "GET", Path: "/api/sessions/{id}/diff",
				Summary: "Compare a file of the directory with the last commit.", Query: true,
			},
		},
	},
}

// ChangesResult is what git status knows of the session's directory.
type ChangesResult struct {
	Repository bool            `json:"repository"` // the directory is in a git repository
	Files      []DirectoryFile `json:"files"`      // at most 1,000
}

// A DirectoryFile is a file of the session's directory that differs from the last commit.
type DirectoryFile struct {
	Path    string `json:"path"`   // below the directory; of a directory that git does not know it ends with /
	Status  string `json:"status"` // M, A, D, T, U for a conflict, ? if git does not know it
	Added   int    `json:"added"`  // lines; 0 for a binary file and one that git does not know
	Removed int    `json:"removed"`
}

// DiffData asks for the differences of a file or directory: a path below the session's directory, as in
// the answer to DoChanges.
type DiffData struct {
	Path string `json:"path"`
}

// DiffResult is a patch of the file, or of the files of the directory, in the format of git. It is empty
// without differences, and outside of a git repository.
type DiffResult struct {
	Patch string `json:"patch"`         // at most 256 KiB
	Cut   bool   `json:"cut,omitempty"` // the patch is longer
}
