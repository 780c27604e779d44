package protocol

// DoChanges asks for what differs in the session's directory from the last commit.
const DoChanges Verb = "changes"

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
