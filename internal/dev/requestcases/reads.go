package requestcases

import (
	"path/filepath"

	"agentctl/protocol"
)

// Reads returns uses of tools that read, or say so, for a working directory that Prepare has
// filled.
func Reads(dir string) []Case {
	file, up := quote(filepath.Join(dir, "a.go")), quote(filepath.Join(dir, "../x"))
	use := func(name, tool, input string, reads bool, places ...string) Case {
		return Case{
			Name: name, Kind: protocol.ApproveTool, Tool: tool, Title: "Read a.go", Input: input, Paths: places,
			Shows: []string{input}, Rule: tool != "", Reads: reads,
		}
	}
	command := use("a read that runs a command", "Read", `{"file_path":`+file+`}`, false)
	command.Command = "rm -rf /"
	return []Case{
		use("a read", "Read", `{"file_path":`+file+`}`, true),
		use("a read of some lines", "read_file", `{"absolute_path":`+file+`,"limit":9,"offset":null}`, true),
		use("a read by a relative path", "read", `{"filePath":"sub/../a.go"}`, true, "a.go"),
		use("a list of a directory", "list_directory", `{"path":`+quote(dir)+`}`, true),
		use("a search", "Grep", `{"pattern":"rm -rf ..","path":"sub","-i":true}`, true),
		use("a read through a link", "Read", `{"file_path":"link/a.go"}`, true),

		command,
		use("a read outside", "Read", `{"file_path":`+up+`}`, false),
		use("a read above", "Read", `{"file_path":"../x"}`, false),
		use("a read outside by a link", "Read", `{"file_path":"out/x"}`, false),
		use("a read by a link to nothing", "Read", `{"file_path":"dangling"}`, false),
		use("a read by a loop", "Read", `{"file_path":"loop/x"}`, false),
		use("a read of a home directory", "Read", `{"file_path":"/root/.ssh/id_rsa"}`, false),
		use("a read of the user's home", "Read", `{"file_path":"~/.ssh/id_rsa"}`, false),
		use("a read of a home", "Read", `{"file_path":"~root/x"}`, false),
		use("a read of a file by its URL", "Read", `{"file_path":"file:///etc/passwd"}`, false),
		use("a read of a relative URL", "Read", `{"file_path":"file:a.go"}`, false),
		use("a read of a page", "Read", `{"file_path":"http://example.com/a.go"}`, false),
		use("a read of a variable", "Read", `{"file_path":"$HOME/x"}`, false),
		use("a read of a variable in braces", "Read", `{"file_path":"sub/${X}"}`, false),
		use("a read above a link", "Read", `{"file_path":"out/w/../x"}`, false),
		use("a read with a new text", "Read", `{"file_path":`+file+`,"new_string":"evil"}`, false),
		use("a read of two files", "Read", `{"file_path":`+file+`,"path":"/etc/passwd"}`, false),
		use("a read of another place", "Read", `{"file_path":`+file+`}`, false, "/etc/passwd"),
		use("a read with a NUL", "Read", `{"file_path":"a.go\u0000/etc/passwd"}`, false),
		use("a read of an empty path", "Read", `{"file_path":""}`, false),
		use("a read of a list of files", "read_file", `{"paths":["a.go","/etc/passwd"]}`, false),
		use("a read with a path that is a list", "Read", `{"path":["/etc/passwd"],"file_path":`+file+`}`, false),
		use("a read with a command", "Read", `{"file_path":`+file+`,"command":"rm -rf /"}`, false),
		use("a read with content", "Read", `{"file_path":`+file+`,"content":"evil"}`, false),
		use("a read with an object", "Read", `{"file_path":`+file+`,"o":{"a":1}}`, false),
		use("a read of a name twice", "Read", `{"file_path":`+file+`,"file_path":"/etc/passwd"}`, false),
		use("a read of both cases", "Read", `{"file_path":`+file+`,"File_Path":"/etc/passwd"}`, false),
		use("a read without a path", "Read", `{"limit":9}`, false),
		use("a search without a path", "Grep", `{"pattern":"x"}`, false),
		use("a search with a glob", "Grep", `{"pattern":"x","path":"sub","glob":"../../**"}`, false),
		use("a read without arguments", "Read", "", false),
		use("a title and no name", "", `{"file_path":`+file+`}`, false),
		use("a tool whose title is a read", "delete_file", `{"file_path":`+file+`}`, false),
		use("a name that begins like a read", "Read2", `{"file_path":`+file+`}`, false),
		use("a name in another case", "READ", `{"file_path":`+file+`}`, false),
		use("a tool of a server", "mcp__files__read", `{"path":`+file+`}`, false),
	}
}
