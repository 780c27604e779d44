package commandline

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts reads statements in their order. ok is the state if the last one succeeds.
func (r *reader) stmts(list []*syntax.Stmt, s state) (ok, all state) {
	ok, all = s, s
	for _, st := range list {
		ok, all = r.stmt(st, all)
	}
	return ok, all
}

// stmt returns the states after a statement: if it succeeds, and in every case.
func (r *reader) stmt(st *syntax.Stmt, s state) (ok, all state) {
	if r.steps++; r.steps > maxSteps {
		r.line.Unread = true
		return s, s
	}
	in := s
	in.sure = s.sure && !st.Negated
	for _, d := range st.Redirs {
		r.redirect(d, &in)
	}
	ok, all = r.command(st.Cmd, in)
	ok.sure, all.sure = s.sure, s.sure
	if len(st.Redirs) > 0 {
		ok.input, ok.piped, all.input, all.piped = s.input, s.piped, s.input, s.piped
	}
	if c, isCall := st.Cmd.(*syntax.CallExpr); isCall && len(st.Redirs) > 0 && len(c.Args) > 0 &&
		c.Args[0].Lit() == "exec" {
		ok.piped, all.piped = true, true // the input of the shell
	}
	if st.Background || st.Coprocess || st.Negated {
		ok = all.union(s)
		all = ok
	}
	return ok, all
}

func (r *reader) redirect(d *syntax.Redirect, s *state) {
	if d.Hdoc != nil {
		s.input, s.piped = r.heredoc(d.Hdoc, s), false
		r.texts = append(r.texts, s.input...)
		return
	}
	if d.N != nil && strings.HasPrefix(d.N.Value, "{") {
		r.noVars = true
	}
	words := r.words(d.Word, s)
	switch d.Op {
	case syntax.WordHdoc:
		s.input, s.piped = words, false
		r.texts = append(r.texts, words...)
	case syntax.DplIn:
		s.input, s.piped = nil, true
	case syntax.DplOut:
	case syntax.RdrIn:
		s.input, s.piped = nil, true
		r.line.redirected = append(r.line.redirected, Run{Words: words, Dirs: s.dirs})
	default:
		r.line.redirected = append(r.line.redirected, Run{Words: words, Dirs: s.dirs, Sure: s.sure && !r.ended})
		if w := join(words); w != "/dev/null" && w != "/dev/stderr" {
			r.writes(w)
		}
	}
}

func (r *reader) heredoc(w *syntax.Word, s *state) []Word {
	var text Word
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			text.Text += lit.Value
		} else {
			text.Text += r.part(part, s).Text
		}
	}
	return []Word{text}
}

func (r *reader) command(cmd syntax.Command, s state) (ok, all state) {
	switch c := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		return r.call(c, s)
	case *syntax.BinaryCmd:
		return r.binary(c, s)
	case *syntax.Block:
		return r.stmts(c.Stmts, s)
	case *syntax.Subshell:
		r.stmts(c.Stmts, s)
	case *syntax.IfClause:
		out := r.branches(c, s)
		return out, out
	case *syntax.WhileClause:
		s.sure = false
		return r.loop(s, func(s state) state {
			ok, all := r.stmts(c.Cond, s)
			_, after := r.stmts(c.Do, ok)
			return after.union(all)
		})
	case *syntax.ForClause:
		s.sure = false
		r.inner(c.Loop, &s)
		if words, ok := c.Loop.(*syntax.WordIter); ok {
			s.vars = maps.Clone(s.vars)
			delete(s.vars, words.Name.Value)
			r.line.Unread = r.line.Unread || isSpecial(words.Name.Value)
		}
		return r.loop(s, func(s state) state {
			_, after := r.stmts(c.Do, s)
			return after
		})
	case *syntax.CaseClause:
		s.sure = false
		r.inner(c.Word, &s)
		out := s
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				r.inner(p, &s)
			}
			_, after := r.stmts(item.Stmts, s)
			out = out.union(after)
		}
		return out, out
	case *syntax.FuncDecl:
		r.noVars = true
		in := s
		in.sure, r.ended = false, true
		in.dirs, in.piped = append(slices.Clip(s.dirs), unknownText), true
		r.stmt(c.Body, in)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, s)
		}
	case *syntax.CoprocClause:
		s.sure = false
		if c.Name != nil { // zsh takes it as the program
			r.unsure(func() { r.run(append(r.words(c.Name, &s), Word{unknownText, true}), s, true) })
		}
		r.stmt(c.Stmt, s)
	case *syntax.DeclClause:
		return r.declare(c, s)
	default:
		r.inner(cmd, &s)
	}
	return s, s
}

func (r *reader) branches(c *syntax.IfClause, s state) state {
	s.sure = false
	ok, all := r.stmts(c.Cond, s)
	_, out := r.stmts(c.Then, ok)
	switch {
	case c.Else == nil:
		return out.union(all)
	case len(c.Else.Cond) > 0:
		return out.union(r.branches(c.Else, all))
	}
	_, other := r.stmts(c.Else.Then, all)
	return out.union(other)
}

// maxPasses bounds how often the body of a loop is read. Then no variable and no directory is known.
const maxPasses = 4

// loop reads a body that runs several times, until another time changes nothing.
func (r *reader) loop(s state, body func(state) state) (ok, all state) {
	for range maxPasses {
		vars := r.noVars
		out := s.union(body(s))
		moved := !slices.Equal(out.dirs, s.dirs)
		if !moved && maps.Equal(out.vars, s.vars) && out.piped == s.piped && vars == r.noVars {
			return out, out
		}
		s = out
		if moved {
			s.dirs = []string{unknownText}
		}
	}
	s.dirs, s.vars, s.piped = []string{unknownText}, nil, true
	out := s.union(body(s))
	return out, out
}

func (r *reader) binary(c *syntax.BinaryCmd, s state) (ok, all state) {
	switch c.Op {
	case syntax.AndStmt:
		okX, allX := r.stmt(c.X, s)
		okY, allY := r.stmt(c.Y, okX)
		return okY, allX.union(allY)
	case syntax.OrStmt:
		s.sure = false
		okX, allX := r.stmt(c.X, s)
		okY, allY := r.stmt(c.Y, allX)
		return okX.union(okY), allX.union(allY)
	}
	from, texts := len(r.line.Commands), len(r.texts)
	r.stmt(c.X, s)
	in := s
	in.input, in.piped = append(printed(r.line.Commands[from:]), r.texts[texts:]...), true
	r.stmt(c.Y, in)
	return s, s
}

// printed returns the texts that commands print as they are.
func printed(runs []Run) (texts []Word) {
	for _, run := range runs[max(0, len(runs)-maxLater):] {
		if name := program(run.Words[0]); (name == "echo" || name == "printf") && len(run.Words) > 1 {
			texts = append(texts, known(join(run.Words[1:]))...)
			texts = append(texts, run.Words[1:]...)
		}
	}
	return texts
}

// inner reads the commands in a node that is no command.
func (r *reader) inner(node syntax.Node, s *state) {
	syntax.Walk(node, func(n syntax.Node) bool {
		in := *s
		in.input, in.piped, in.sure = nil, true, false
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, in)
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, in)
			return false
		case *syntax.Stmt:
			r.stmt(n, in)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil {
				r.noVars = r.noVars || n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull
				r.line.Unread = r.line.Unread || n.Exp.Op == syntax.OtherParamOps // ${x@P} runs substitutions
			}
		case *syntax.SglQuoted: // arithmetic runs the substitutions of a subscript
			r.line.Unread = r.line.Unread || strings.Contains(n.Value, "$(") || strings.Contains(n.Value, "`")
		}
		return true
	})
}

func (r *reader) call(c *syntax.CallExpr, s state) (ok, all state) {
	in := s
	for _, a := range c.Assigns {
		in = r.assign(a, in)
	}
	if len(c.Args) == 0 {
		return in, in
	}
	words, literal := r.arguments(c, &s)
	if len(words) == 0 {
		return s, s
	}
	s.sure = s.sure && literal == nil
	r.run(words, s, true)
	if literal != nil {
		r.run(literal, s, true)
	}
	name := program(words[0])
	if assigns(name) && (name != "printf" || len(words) > 1 && (!words[1].Known() || strings.HasPrefix(words[1].Text, "-"))) {
		s.vars = nil
	}
	switch name {
	case "trap", "alias", "source", ".", "eval":
		r.noVars = true
	case "cd", "pushd", "popd":
		return r.chdir(words, s)
	}
	return s, s
}

// arguments returns the words of a command, and of one for a shell without braces if they differ.
func (r *reader) arguments(c *syntax.CallExpr, s *state) (words, literal []Word) {
	braces := false
	for _, w := range c.Args {
		plain := Word{}
		for _, part := range w.Parts {
			in := r.part(part, s)
			plain = Word{plain.Text + in.Text, plain.Splits || in.Splits}
		}
		if !strings.Contains(plain.Text, "{") {
			words, literal = append(words, plain), append(literal, plain)
			continue
		}
		expanded := r.words(w, s)
		braces = braces || len(expanded) != 1
		words, literal = append(words, expanded...), append(literal, plain)
	}
	if !braces {
		literal = nil
	}
	return words, literal
}

func (r *reader) chdir(words []Word, s state) (ok, all state) {
	to, plain := words[len(words)-1], len(words) == 2
	if program(words[0]) == "cd" && len(words) == 3 && words[1].Text == "--" {
		plain = true
	}
	ok = s
	ok.dirs = nil
	for _, dir := range s.dirs {
		switch {
		case !plain || to.Splits || !to.Known() || strings.HasPrefix(to.Text, "-") || strings.HasPrefix(to.Text, "~"):
			dir = unknownText
		case path.IsAbs(to.Text):
			dir = path.Clean(to.Text)
		default:
			dir = path.Join(dir, to.Text)
		}
		ok.dirs = append(ok.dirs, dir)
	}
	return ok, s.union(ok)
}
