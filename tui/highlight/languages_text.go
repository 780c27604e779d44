package highlight

// textLanguages returns the tables of shells, data formats and document formats.
func textLanguages() []*Language {
	shellSpans := []span{
		{open: "#", kind: Comment, afterSpace: true},
		{open: `"`, close: `"`, kind: String, escape: '\\', multiline: true},
		{open: "'", close: "'", kind: String, multiline: true},
		{open: "${", close: "}", kind: Meta},
	}
	const (
		shellKeywords = "case coproc do done elif else esac fi for function if in select then until while break " +
			"continue return exit export local readonly unset shift trap source alias set declare eval exec"
		shellCommands = "cd echo printf read test cat grep sed awk ls rm cp mv mkdir find xargs curl git go npm " +
			"make docker sudo"
	)
	dataSpans := []span{
		{open: "#", kind: Comment, afterSpace: true},
		tripleDouble, tripleSingle, doubleQuote, singleQuote,
	}
	return []*Language{
		{
			names:     "bash sh shell zsh ksh fish",
			files:     ".sh .bash .zsh .fish .bashrc .profile .zshrc",
			spans:     shellSpans,
			sigils:    "$",
			wordChars: "-.",
			keywords:  shellKeywords,
			types:     shellCommands,
		},
		{
			names:     "console shell-session terminal",
			spans:     shellSpans,
			sigils:    "$",
			wordChars: "-.",
			keywords:  shellKeywords,
			types:     shellCommands,
			scanLine:  scanSession,
		},
		{
			names: "powershell ps1 pwsh",
			files: ".ps1 .psm1",
			spans: []span{
				{open: "<#", close: "#>", kind: Comment, multiline: true},
				hash, doubleQuote,
				{open: "'", close: "'", kind: String},
			},
			sigils:     "$",
			wordChars:  "-",
			ignoreCase: true,
			keywords: "begin break catch class continue do dynamicparam else elseif end enum exit filter finally " +
				"for foreach function hidden if in param process return static switch throw trap try until using " +
				"while",
		},
		{
			names:      "sql mysql postgres postgresql psql sqlite plpgsql",
			files:      ".sql",
			ignoreCase: true,
			spans: []span{
				dashes, slashStar,
				{open: "'", close: "'", kind: String, multiline: true},
				{open: `"`, close: `"`, kind: Key},
				{open: "`", close: "`", kind: Key},
			},
			keywords: "add all alter analyze and as asc begin between by cascade case check column commit " +
				"conflict constraint create cross database default delete desc distinct do drop else end exists " +
				"explain foreign from full function group having if in index inner insert into is join key left " +
				"like limit not nothing on or order outer over partition primary procedure references replace " +
				"returning right rollback select set table temporary then to transaction trigger truncate union " +
				"unique update using values view when where window with without",
			types: "bigint blob boolean bytea char date decimal double float int integer interval json jsonb " +
				"numeric real serial smallint text time timestamp timestamptz uuid varchar",
			constants: "true false null",
		},
		{
			names:     "json jsonc json5 jsonl ndjson",
			files:     ".json .jsonc .json5 .jsonl .ndjson .webmanifest",
			spans:     []span{slashes, slashStar, doubleQuote, singleQuote},
			constants: "true false null",
			colonKeys: true,
		},
		{
			names:     "yaml yml",
			files:     ".yaml .yml",
			spans:     dataSpans,
			constants: "true false null yes no on off ~",
			wordChars: "-./",
			scanLine:  scanYAML,
		},
		{
			names:     "toml ini cfg conf properties dotenv env editorconfig",
			files:     ".toml .ini .cfg .conf .properties .env .editorconfig .gitconfig go.mod",
			spans:     append([]span{{open: ";", kind: Comment, afterSpace: true}}, dataSpans...),
			constants: "true false",
			wordChars: "-./",
			scanLine:  scanINI,
		},
		{
			names:    "html xml xhtml svg vue svelte plist",
			files:    ".html .htm .xml .svg .vue .svelte .plist .xsl",
			spans:    []span{{open: "<!--", close: "-->", kind: Comment, multiline: true}},
			scanLine: scanMarkup,
		},
		{
			names:     "css scss sass less",
			files:     ".css .scss .sass .less",
			spans:     []span{slashStar, slashes, doubleQuote, singleQuote},
			wordChars: "-",
			sigils:    "@.#$",
			colonKeys: true,
			constants: "none auto inherit initial unset",
		},
		{names: "markdown md mdx", files: ".md .markdown .mdx", scanLine: scanMarkdown},
		{names: "diff patch udiff", files: ".diff .patch", scanLine: scanDiff},
		{
			names:         "dockerfile docker containerfile",
			files:         "dockerfile containerfile .dockerfile",
			spans:         []span{hash, doubleQuote, singleQuote},
			sigils:        "$",
			wordChars:     "-",
			firstWordOnly: true,
			ignoreCase:    true,
			keywords: "add arg cmd copy entrypoint env expose from healthcheck label maintainer onbuild run " +
				"shell stopsignal user volume workdir",
		},
		{
			names:     "make makefile mk",
			files:     "makefile .mk gnumakefile",
			spans:     []span{hash, doubleQuote, singleQuote, {open: "$(", close: ")", kind: Meta}},
			wordChars: "-./",
			colonKeys: true,
			keywords:  "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath",
		},
		{
			names:         "hcl terraform tf",
			files:         ".tf .tfvars .hcl",
			spans:         []span{hash, slashes, slashStar, doubleQuote},
			wordChars:     "-",
			firstWordOnly: true,
			keywords: "data locals module output provider resource terraform variable dynamic for for_each moved " +
				"import",
			constants: "true false null",
			types:     "string number bool list map object set",
		},
		{
			names: "protobuf proto",
			files: ".proto",
			spans: []span{slashes, slashStar, doubleQuote, singleQuote},
			keywords: "enum extend extensions import message oneof option optional package public repeated " +
				"required reserved returns rpc service stream syntax to weak",
			types: "bool bytes double fixed32 fixed64 float int32 int64 map sint32 sint64 string uint32 " +
				"uint64",
			constants:    "true false",
			capitalTypes: true,
		},
		{
			names:        "graphql gql",
			files:        ".graphql .gql",
			spans:        []span{hash, tripleDouble, doubleQuote},
			sigils:       "@$",
			colonKeys:    true,
			capitalTypes: true,
			keywords: "directive enum extend fragment implements input interface mutation on query scalar schema " +
				"subscription type union",
			constants: "true false null",
		},
		{
			names:     "nix",
			files:     ".nix",
			spans:     []span{hash, slashStar, {open: "''", close: "''", kind: String, multiline: true}, doubleQuote},
			wordChars: "-'",
			keywords:  "assert else if import in inherit let or rec then with",
			constants: "true false null",
		},
		{
			names:         "vim viml",
			files:         ".vim .vimrc",
			spans:         []span{{open: `"`, kind: Comment, afterSpace: true}, singleQuote},
			firstWordOnly: true,
			keywords: "augroup autocmd call command else elseif endfor endfunction endif endwhile execute for " +
				"function if let map nmap nnoremap return set while",
		},
	}
}
