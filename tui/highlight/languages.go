package highlight

// Spans common to many languages.
var (
	slashes      = span{open: "//", kind: Comment}
	hash         = span{open: "#", kind: Comment}
	dashes       = span{open: "--", kind: Comment}
	slashStar    = span{open: "/*", close: "*/", kind: Comment, multiline: true}
	doubleQuote  = span{open: `"`, close: `"`, kind: String, escape: '\\'}
	singleQuote  = span{open: "'", close: "'", kind: String, escape: '\\'}
	charLiteral  = span{open: "'", close: "'", kind: String, char: true}
	backtick     = span{open: "`", close: "`", kind: String, escape: '\\', multiline: true}
	tripleDouble = span{open: `"""`, close: `"""`, kind: String, escape: '\\', multiline: true}
	tripleSingle = span{open: "'''", close: "'''", kind: String, escape: '\\', multiline: true}
)

const (
	cKeywords = "break case continue default do else enum extern for goto if return sizeof static struct switch " +
		"typedef union volatile while const inline register restrict auto"
	cTypes = "bool char double float int long short signed unsigned void size_t ssize_t int8_t int16_t int32_t " +
		"int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t wchar_t FILE"
	jsKeywords = "as async await break case catch class const continue debugger default delete do else export " +
		"extends finally for from function get if import in instanceof let new of return set static super " +
		"switch this throw try typeof var void while with yield"
	tsKeywords = " abstract declare enum implements interface keyof namespace private protected public readonly " +
		"satisfies type is infer"
	javaKeywords = "abstract assert break case catch class const continue default do else enum extends final finally " +
		"for goto if implements import instanceof interface native new package permits private protected " +
		"public record return sealed static strictfp super switch synchronized this throw throws " +
		"transient try var void volatile while yield"
)

// pod returns the spans of Perl's embedded documentation.
func pod() []span {
	var out []span
	for _, begin := range []string{"=head1", "=head2", "=pod", "=over", "=item", "=begin", "=for", "=encoding"} {
		out = append(out, span{open: begin, close: "=cut", kind: Comment, multiline: true})
	}
	return out
}

// allLanguages returns the tables of all languages.
func allLanguages() []*Language {
	script := []span{slashes, slashStar, backtick, doubleQuote, singleQuote}
	return append([]*Language{
		{
			names: "go golang",
			files: ".go",
			spans: []span{
				slashes, slashStar, doubleQuote, charLiteral,
				{open: "`", close: "`", kind: String, multiline: true},
			},
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import " +
				"interface map package range return select struct switch type var",
			types: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 " +
				"int64 rune string uint uint8 uint16 uint32 uint64 uintptr append cap clear close copy delete " +
				"len make max min new panic print println recover",
			constants: "true false nil iota",
		},
		{
			names: "python py python3 pycon",
			files: ".py .pyi .pyw",
			spans: []span{hash, tripleDouble, tripleSingle, doubleQuote, singleQuote},
			keywords: "and as assert async await break case class continue def del elif else except finally for " +
				"from global if import in is lambda match nonlocal not or pass raise return try while with yield",
			types: "bool bytes dict float frozenset int list object set str tuple type len print range open " +
				"super self cls enumerate zip map filter isinstance Exception ValueError TypeError KeyError",
			constants:    "True False None",
			sigils:       "@",
			capitalTypes: true,
		},
		{
			names:        "javascript js jsx mjs cjs node",
			files:        ".js .jsx .mjs .cjs",
			spans:        script,
			keywords:     jsKeywords,
			wordChars:    "$",
			sigils:       "@",
			constants:    "true false null undefined NaN Infinity",
			capitalTypes: true,
		},
		{
			names:        "typescript ts tsx",
			files:        ".ts .tsx .mts .cts",
			spans:        script,
			keywords:     jsKeywords + tsKeywords,
			wordChars:    "$",
			sigils:       "@",
			types:        "any bigint boolean never number object string symbol unknown void",
			constants:    "true false null undefined NaN Infinity",
			capitalTypes: true,
		},
		{
			names: "rust rs",
			files: ".rs",
			spans: []span{
				slashes,
				{open: "/*", close: "*/", kind: Comment, multiline: true, nests: true},
				{open: `r#"`, close: `"#`, kind: String, multiline: true},
				{open: `"`, close: `"`, kind: String, escape: '\\', multiline: true},
				charLiteral,
				{open: "#[", close: "]", kind: Meta},
			},
			keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop " +
				"match mod move mut pub ref return self static struct super trait type unsafe use where while",
			types:        "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
			constants:    "true false",
			capitalTypes: true,
		},
		{
			names:     "c h",
			files:     ".c .h",
			spans:     []span{slashes, slashStar, doubleQuote, singleQuote},
			keywords:  cKeywords,
			types:     cTypes,
			sigils:    "#",
			constants: "true false NULL",
		},
		{
			names: "c++ cpp cxx cc hpp objective-c objc cuda",
			files: ".cc .cpp .cxx .hpp .hh .m .mm .cu",
			spans: []span{
				slashes, slashStar,
				{open: `R"(`, close: `)"`, kind: String, multiline: true},
				doubleQuote,
				singleQuote,
			},
			sigils: "#",
			keywords: cKeywords + " alignas alignof catch class concept consteval constexpr constinit const_cast " +
				"co_await co_return co_yield decltype delete dynamic_cast explicit final friend mutable namespace " +
				"new noexcept operator override private protected public reinterpret_cast requires static_assert " +
				"static_cast template this throw try typename using virtual",
			types:     cTypes + " string vector map set pair unique_ptr shared_ptr optional",
			constants: "true false NULL nullptr",
		},
		{
			names: "c# csharp cs dotnet",
			files: ".cs",
			spans: []span{
				slashes, slashStar, tripleDouble,
				{open: `@"`, close: `"`, kind: String, multiline: true},
				doubleQuote, charLiteral,
			},
			sigils: "#",
			keywords: javaKeywords + " as async await base checked delegate event explicit extern fixed foreach " +
				"get implicit in internal is lock nameof namespace operator out override params partial readonly " +
				"ref sealed set sizeof stackalloc struct typeof unchecked unsafe using virtual when where",
			types: "bool byte char decimal double dynamic float int long object sbyte short string uint ulong " +
				"ushort",
			constants:    "true false null",
			capitalTypes: true,
		},
		{
			names:        "java",
			files:        ".java",
			spans:        []span{slashes, slashStar, tripleDouble, doubleQuote, charLiteral},
			keywords:     javaKeywords,
			types:        "boolean byte char double float int long short",
			constants:    "true false null",
			sigils:       "@",
			capitalTypes: true,
		},
		{
			names: "kotlin kt kts gradle groovy",
			files: ".kt .kts .gradle .groovy",
			spans: []span{slashes, slashStar, tripleDouble, doubleQuote, singleQuote},
			keywords: javaKeywords + " as by companion constructor crossinline data def fun get in infix init " +
				"inline inner internal is it lateinit noinline object open operator out override reified set " +
				"suspend tailrec typealias val vararg when where",
			constants:    "true false null",
			sigils:       "@",
			capitalTypes: true,
		},
		{
			names: "scala sbt",
			files: ".scala .sbt .sc",
			spans: []span{slashes, slashStar, tripleDouble, doubleQuote, charLiteral},
			keywords: javaKeywords + " def derives end enum export given implicit lazy match object of " +
				"override then trait type using val with",
			constants:    "true false null",
			sigils:       "@",
			capitalTypes: true,
		},
		{
			names: "swift",
			files: ".swift",
			spans: []span{
				slashes,
				{open: "/*", close: "*/", kind: Comment, multiline: true, nests: true},
				tripleDouble,
				doubleQuote,
			},
			keywords: "actor as associatedtype async await break case catch class continue default defer deinit " +
				"do else enum extension fallthrough fileprivate final for func get guard if import in indirect " +
				"init inout internal is lazy let mutating open operator override private protocol public repeat " +
				"rethrows return self set some static struct subscript super switch throw throws try typealias " +
				"unowned var weak where while",
			constants:    "true false nil",
			sigils:       "@#",
			capitalTypes: true,
		},
		{
			names: "dart",
			files: ".dart",
			spans: []span{slashes, slashStar, tripleDouble, tripleSingle, doubleQuote, singleQuote},
			keywords: javaKeywords + " as async await covariant deferred dynamic export extension external " +
				"factory get hide in is late library mixin mixins of on operator part required rethrow set show " +
				"sync typedef with",
			constants:    "true false null",
			sigils:       "@",
			capitalTypes: true,
			types:        "bool double int num",
		},
		{
			names: "php",
			files: ".php",
			spans: []span{
				slashes, hash, slashStar,
				{open: `"`, close: `"`, kind: String, escape: '\\', multiline: true},
				singleQuote,
			},
			keywords: "abstract and array as break callable case catch class clone const continue declare " +
				"default do echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile enum " +
				"extends final finally fn for foreach function global goto if implements include include_once " +
				"instanceof insteadof interface isset list match namespace new or print private protected public " +
				"readonly require require_once return static switch throw trait try unset use var while xor " +
				"yield",
			constants:    "true false null TRUE FALSE NULL",
			sigils:       "$",
			capitalTypes: true,
		},
		{
			names: "ruby rb",
			files: ".rb .rake .gemspec gemfile rakefile",
			spans: []span{
				hash,
				{open: "=begin", close: "=end", kind: Comment, multiline: true},
				doubleQuote, singleQuote,
				{open: "`", close: "`", kind: String, escape: '\\'},
			},
			keywords: "alias and begin break case class def defined? do else elsif end ensure extend for if in " +
				"include module next not or private protected public raise redo require require_relative rescue " +
				"retry return self super then undef unless until when while yield attr_reader attr_writer " +
				"attr_accessor",
			constants:    "true false nil",
			sigils:       "@:$",
			wordChars:    "?!",
			capitalTypes: true,
		},
		{
			names: "lua",
			files: ".lua",
			spans: []span{
				{open: "--[[", close: "]]", kind: Comment, multiline: true},
				dashes,
				{open: "[[", close: "]]", kind: String, multiline: true},
				doubleQuote, singleQuote,
			},
			keywords: "and break do else elseif end for function goto if in local not or repeat return then " +
				"until while",
			constants: "true false nil",
			types:     "ipairs pairs print require self string table",
		},
		{
			names:  "perl pl",
			files:  ".pl .pm .t",
			spans:  append(pod(), span{open: "#", kind: Comment, afterSpace: true}, doubleQuote, singleQuote),
			sigils: "$@%",
			keywords: "my our local sub use no package return if elsif else unless while until for foreach do " +
				"last next redo die warn print printf push pop shift unshift eval require and or not eq ne lt gt " +
				"le ge cmp",
		},
		{
			names:     "r",
			files:     ".r",
			spans:     []span{hash, doubleQuote, singleQuote},
			wordChars: ".",
			keywords:  "if else repeat while function for next break in library require return",
			constants: "TRUE FALSE NULL NA Inf NaN",
		},
		{
			names: "julia jl",
			files: ".jl",
			spans: []span{
				{open: "#=", close: "=#", kind: Comment, multiline: true, nests: true},
				hash, tripleDouble,
				doubleQuote, charLiteral,
			},
			sigils:    "@",
			wordChars: "!",
			keywords: "abstract baremodule begin break catch const continue do else elseif end export finally " +
				"for function global if import in let local macro module mutable primitive quote return struct " +
				"try type using where while",
			constants:    "true false nothing missing",
			capitalTypes: true,
		},
		{
			names:  "zig",
			files:  ".zig",
			spans:  []span{slashes, {open: `\\`, kind: String}, doubleQuote, charLiteral},
			sigils: "@",
			keywords: "align allowzero and anyframe asm async await break callconv catch comptime const continue " +
				"defer else enum errdefer error export extern fn for if inline noalias nosuspend or orelse " +
				"packed pub resume return struct suspend switch test threadlocal try union unreachable " +
				"usingnamespace var volatile while",
			types: "anyerror anyopaque anytype bool f16 f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize void " +
				"type noreturn",
			constants: "true false null undefined",
		},
		{
			names: "haskell hs",
			files: ".hs",
			spans: []span{
				{open: "{-#", close: "#-}", kind: Meta},
				{open: "{-", close: "-}", kind: Comment, multiline: true, nests: true},
				dashes, doubleQuote,
				charLiteral,
			},
			wordChars:    "'",
			capitalTypes: true,
			keywords: "case class data default deriving do else foreign if import in infix infixl infixr " +
				"instance let module newtype of qualified then type where",
		},
		{
			names: "ocaml ml fsharp f#",
			files: ".ml .mli .fs .fsx",
			spans: []span{
				{open: "(*", close: "*)", kind: Comment, multiline: true, nests: true},
				slashes, tripleDouble,
				doubleQuote, charLiteral,
			},
			wordChars:    "'",
			capitalTypes: true,
			keywords: "and as assert begin class do done downto else end exception external for fun function " +
				"functor if in include inherit initializer lazy let match method module mutable namespace new " +
				"object of open or private rec sig struct then to try type use val virtual when while with yield " +
				"member static override",
			constants: "true false",
		},
		{
			names:        "elixir ex exs",
			files:        ".ex .exs",
			spans:        []span{hash, tripleDouble, doubleQuote, singleQuote},
			sigils:       "@:",
			wordChars:    "?!",
			capitalTypes: true,
			keywords: "after alias and case catch cond def defdelegate defimpl defmacro defmodule defp " +
				"defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue " +
				"super try unless unquote use when with",
			constants: "true false nil",
		},
		{
			names:        "erlang erl",
			files:        ".erl .hrl",
			spans:        []span{{open: "%", kind: Comment}, doubleQuote, singleQuote},
			capitalTypes: true,
			keywords: "after and andalso begin bnot bor bsl bsr bxor case catch cond div end fun if let not of " +
				"or orelse receive rem try when xor",
		},
		{
			names: "lisp clojure clj cljs scheme elisp racket",
			files: ".clj .cljs .edn .lisp .el .scm .rkt",
			spans: []span{
				{open: ";", kind: Comment}, {open: `"`, close: `"`, kind: String, escape: '\\', multiline: true},
			},
			sigils:    ":",
			wordChars: "-?!*+/<>=",
			keywords: "def defn defmacro defun defvar defmethod defprotocol defrecord do fn if if-let when " +
				"when-let let letfn loop recur cond case ns require lambda set! quote begin define setq progn " +
				"and or not",
			constants: "true false nil t",
		},
	}, textLanguages()...)
}
