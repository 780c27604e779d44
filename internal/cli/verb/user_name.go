package verb

import (
	"fmt"
	"os"
	"os/user"
)

// UserName returns the name of the user for the server: --as, else the name on this machine.
func (cli *Context) UserName() string {
	if cli.Flags.As != "" {
		return cli.Flags.As
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := cli.Env(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
