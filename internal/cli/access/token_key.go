package access

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/login"
)

type tokenKeyOptions struct {
	verb.Options

	Method string // of a new key
	File   string // of another issuer's public key
	ID     string
}

var tokenKeyVerb = verb.Verb{
	Use:   "key",
	Short: "Show and change the keys of credentials",
	Long: `Show and change the keys that sign credentials of this data directory. One key signs; all verify. A
running server reads them within seconds. "rotate" adds a key that signs from now on, "add" accepts
the credentials of another issuer, "rm" revokes a key. See docs/operations.md for the claims of a
credential.`,
	Example: "  agentctl token key\n  agentctl token key rotate --alg EdDSA\n" +
		"  agentctl token key add ci issuer.pem\n  agentctl token key rm k_ABCDEFGH",
	Place: verb.DataDirectory,
	Below: []*verb.Verb{&tokenKeyRotateVerb, &tokenKeyAddVerb, &tokenKeyRmVerb},

	Do: &verb.Steps[tokenKeyOptions]{Run: runTokenKeys},
}

var tokenKeyRotateVerb = verb.Verb{
	Use:   "rotate",
	Short: "Add a key for new credentials",
	Long: "Add a random key, which signs the credentials that are made from now on. Credentials of older\n" +
		"keys stay valid.",
	Example: "  agentctl token key rotate",
	Place:   verb.DataDirectory,

	Do: &verb.Steps[tokenKeyOptions]{
		Flags: func(o *tokenKeyOptions, cmd *cobra.Command) {
			cmd.Flags().StringVar(&o.Method, "alg", login.HS256, "`METHOD`: HS256 or EdDSA")
		},
		Read: func(o *tokenKeyOptions, _ []string) error { return o.checkMethod() },
		Run:  runTokenKeyRotate,
	},
}

var tokenKeyAddVerb = verb.Verb{
	Use:   "add ID FILE",
	Short: "Accept credentials signed with an Ed25519 key",
	Long: "Accept credentials that another issuer signs with EdDSA. FILE is its Ed25519 public key in PEM,\n" +
		"ID the \"kid\" of its credentials.",
	Example: "  agentctl token key add ci issuer.pem",
	Place:   verb.DataDirectory,
	Trial:   "k1 nonsense",

	Do: &verb.Steps[tokenKeyOptions]{
		Read: func(o *tokenKeyOptions, args []string) error { o.ID, o.File = args[0], args[1]; return nil },
		Run:  runTokenKeyAdd,
	},
}

var tokenKeyRmVerb = verb.Verb{
	Use:   "rm ID",
	Short: "Remove a key and end its credentials",
	Long: "Remove a key. Its credentials end, with their connections, within seconds. The key that signs\n" +
		"stays.",
	Example: "  agentctl token key rm k_ABCDEFGH",
	Place:   verb.DataDirectory,
	Trial:   "k1",

	Do: &verb.Steps[tokenKeyOptions]{
		Read: func(o *tokenKeyOptions, args []string) error { o.ID = args[0]; return nil },
		Run:  runTokenKeyRemove,
	},
}

func (o *tokenKeyOptions) checkMethod() error {
	if o.Method != login.HS256 && o.Method != login.EdDSA {
		return exit.Usagef("invalid --alg %q: want %s or %s", o.Method, login.HS256, login.EdDSA)
	}
	return nil
}

func runTokenKeys(ctx context.Context, o *tokenKeyOptions) error {
	return o.change(ctx, func(*login.Keys) error { return nil })
}

func runTokenKeyRotate(ctx context.Context, o *tokenKeyOptions) error {
	return o.change(ctx, func(keys *login.Keys) error {
		key, err := login.NewKey(o.Method)
		keys.Keys, keys.Signing = append(keys.Keys, key), key.ID
		return err
	})
}

func runTokenKeyAdd(ctx context.Context, o *tokenKeyOptions) error {
	b, err := os.ReadFile(o.File)
	if err != nil {
		return fmt.Errorf("public key: %w", err)
	}
	public, err := login.ParsePublicKey(b)
	if err != nil {
		return exit.Usagef("%s: %s", o.File, err)
	}
	return o.change(ctx, func(keys *login.Keys) error {
		key := login.Key{ID: o.ID, Method: login.EdDSA, Public: public, Created: time.Now().UTC()}
		keys.Keys = append(keys.Keys, key)
		return nil
	})
}

func runTokenKeyRemove(ctx context.Context, o *tokenKeyOptions) error {
	return o.change(ctx, func(keys *login.Keys) error {
		if o.ID == keys.Signing {
			return exit.Usagef("%q is the key that signs: run agentctl token key rotate first", o.ID)
		}
		n := len(keys.Keys)
		keys.Keys = slices.DeleteFunc(keys.Keys, func(k login.Key) bool { return k.ID == o.ID })
		switch len(keys.Keys) {
		case n:
			return exit.Errorf(exit.Failure, protocol.CodeNotFound, "no key %q", o.ID).
				WithHint("list keys: agentctl token key")
		case 0:
			return exit.Usagef("%q is the only key: run agentctl token key rotate first", o.ID)
		}
		return nil
	})
}

// change changes the keys of the data directory and prints them without their secrets.
func (o *tokenKeyOptions) change(ctx context.Context, f func(*login.Keys) error) error {
	dir := o.CLI.Dir
	if err := dir.Create(); err != nil {
		return err
	}
	keys, err := dir.Keys()
	if err != nil {
		return err
	}
	before := slices.Clone(keys.Keys)
	if err := f(&keys); err != nil {
		return err
	}
	if !slices.EqualFunc(before, keys.Keys, func(a, b login.Key) bool { return a.ID == b.ID }) {
		if err := connection.RequireUser(ctx, o.CLI, "change the keys of credentials"); err != nil {
			return err
		}
		if err := dir.SaveKeys(keys); err != nil {
			return exit.Usagef("%w", err)
		}
	}
	for i := range keys.Keys {
		keys.Keys[i].Secret = nil
	}
	return o.CLI.Out.Print(keys, func(w io.Writer) {
		fmt.Fprintf(w, "audience %s\n", keys.Audience)
		for _, k := range keys.Keys {
			signs := ""
			if k.ID == keys.Signing {
				signs = "  signs"
			}
			fmt.Fprintf(w, "%s  %s%s\n", k.ID, k.Method, signs)
		}
	})
}
