package highlight

// textual are the languages of shells, data and documents.
func textual() []*Language {
	inShell := []span{
		{open: "#", kind: Comment, spaced: true},
		{open: `"`, close: `"`, kind: String, escape: '\\', many: true},
		{open: "'", close: "'", kind: String, many: true},
		{open: "${", close: "}", kind: Meta},
	}
	const (
		wordsOfShell = "case coproc do done elif else esac fi for function if in select then until while break continue return exit export local readonly unset shift trap source alias set declare eval exec"
		toolsOfShell = "cd echo printf read test cat grep sed awk ls rm cp mv mkdir find xargs curl git go npm make docker sudo"
	)
	inData := []span{{open: "#", kind: Comment, spaced: true}, triple, triple1, double, single}
	return []*Language{
		{
			names: "bash sh shell zsh ksh fish", files: ".sh .bash .zsh .fish .bashrc .profile .zshrc",
			spans: inShell, marks: "$", letters: "-", keywords: wordsOfShell, types: toolsOfShell,
		},
		{
			names: "console shell-session terminal",
			spans: inShell, marks: "$", letters: "-", keywords: wordsOfShell, types: toolsOfShell, line: session,
		},
		{
			names: "powershell ps1 pwsh", files: ".ps1 .psm1", spans: []span{{open: "<#", close: "#>", kind: Comment, many: true}, hash, double, {open: "'", close: "'", kind: String}}, marks: "$", letters: "-", anyCase: true,
			keywords: "begin break catch class continue do dynamicparam else elseif end enum exit filter finally for foreach function hidden if in param process return static switch throw trap try until using while",
		},
		{
			names: "sql mysql postgres postgresql psql sqlite plpgsql", files: ".sql", anyCase: true,
			spans: []span{dashes, block, {open: "'", close: "'", kind: String, many: true}, {open: `"`, close: `"`, kind: Key}, {open: "`", close: "`", kind: Key}},
			keywords: "add all alter analyze and as asc begin between by cascade case check column commit conflict constraint create cross database default delete desc distinct do drop else end exists explain " +
				"foreign from full function group having if in index inner insert into is join key left like limit not nothing on or order outer over partition primary procedure references replace " +
				"returning right rollback select set table temporary then to transaction trigger truncate union unique update using values view when where window with without",
			types:     "bigint blob boolean bytea char date decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar",
			constants: "true false null",
		},
		{names: "json jsonc json5 jsonl ndjson", files: ".json .jsonc .json5 .jsonl .ndjson .webmanifest", spans: []span{slashes, block, double, single}, constants: "true false null", keyed: true},
		{names: "yaml yml", files: ".yaml .yml", spans: inData, constants: "true false null yes no on off ~", letters: "-./", line: yaml},
		{names: "toml ini cfg conf properties dotenv env editorconfig", files: ".toml .ini .cfg .conf .properties .env .editorconfig .gitconfig go.mod", spans: append([]span{{open: ";", kind: Comment, spaced: true}}, inData...), constants: "true false", letters: "-./", line: settings},
		{names: "html xml xhtml svg vue svelte plist", files: ".html .htm .xml .svg .vue .svelte .plist .xsl", spans: []span{{open: "<!--", close: "-->", kind: Comment, many: true}}, line: markup},
		{
			names: "css scss sass less", files: ".css .scss .sass .less", spans: []span{block, slashes, double, single}, letters: "-", marks: "@.#$", keyed: true,
			constants: "none auto inherit initial unset",
		},
		{names: "markdown md mdx", files: ".md .markdown .mdx", line: markdown},
		{names: "diff patch udiff", files: ".diff .patch", line: diff},
		{
			names: "dockerfile docker containerfile", files: "dockerfile containerfile .dockerfile", spans: []span{hash, double, single}, marks: "$", letters: "-", first: true, anyCase: true,
			keywords: "add arg cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
		},
		{
			names: "make makefile mk", files: "makefile .mk gnumakefile", spans: []span{hash, double, single, {open: "$(", close: ")", kind: Meta}}, letters: "-./", keyed: true,
			keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath",
		},
		{
			names: "hcl terraform tf", files: ".tf .tfvars .hcl", spans: []span{hash, slashes, block, double}, letters: "-", first: true,
			keywords: "data locals module output provider resource terraform variable dynamic for for_each moved import", constants: "true false null", types: "string number bool list map object set",
		},
		{
			names: "protobuf proto", files: ".proto", spans: []span{slashes, block, double, single},
			keywords: "enum extend extensions import message oneof option optional package public repeated required reserved returns rpc service stream syntax to weak", types: "bool bytes double fixed32 fixed64 float int32 int64 map sint32 sint64 string uint32 uint64", constants: "true false", capitals: true,
		},
		{
			names: "graphql gql", files: ".graphql .gql", spans: []span{hash, triple, double}, marks: "@$", keyed: true, capitals: true,
			keywords: "directive enum extend fragment implements input interface mutation on query scalar schema subscription type union", constants: "true false null",
		},
		{names: "nix", files: ".nix", spans: []span{hash, block, {open: "''", close: "''", kind: String, many: true}, double}, letters: "-'", keywords: "assert else if import in inherit let or rec then with", constants: "true false null"},
		{names: "vim viml", files: ".vim .vimrc", spans: []span{{open: `"`, kind: Comment, spaced: true}, single}, first: true, keywords: "augroup autocmd call command else elseif endfor endfunction endif endwhile execute for function if let map nmap nnoremap return set while"},
	}
}
