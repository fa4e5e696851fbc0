package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository as a test sees it.
const root = "../.."

// page is one document. Only what the tests need of Markdown is understood:
// fenced blocks, tables, headings, links.
type page struct {
	path   string // from the root
	blocks []block
	tables []table
	prose  string // without fenced blocks
}

// block is a fenced block.
type block struct {
	line int
	info string // the words behind the fence, such as "yaml"
	text string
}

// table has a header and rows, cell by cell.
type table struct {
	line int
	rows [][]string
}

// pages lists all documents of the repository.
func pages(t *testing.T) []*page {
	t.Helper()
	var out []*page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "deploy/*/*.md", "examples/*/*.md", "examples/*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, parsePage(filepath.ToSlash(name), string(data)))
		}
	}
	if len(out) < 2 {
		t.Fatalf("want the documents of the repository, have %d", len(out))
	}
	return out
}

func parsePage(path, text string) *page {
	p := &page{path: path}
	var open *block
	for i, line := range strings.Split(text, "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{line: i + 1, info: info}
		case fence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		default:
			p.prose += line + "\n"
			p.row(i+1, line)
		}
	}
	return p
}

// row adds a line to the table that it belongs to, if it is one of a table.
func (p *page) row(number int, line string) {
	if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
		return
	}
	last := len(p.tables) - 1
	if last < 0 || p.tables[last].line+len(p.tables[last].rows)+1 < number {
		p.tables = append(p.tables, table{line: number})
		last++
	}
	// A bar within a cell is escaped.
	cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
	}
	p.tables[last].rows = append(p.tables[last].rows, cells)
}

// code is the text of a cell that is code.
func code(cell string) string { return strings.Trim(cell, "`") }

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInAnchor    = regexp.MustCompile("[^a-z0-9 _-]")
)

func (p *page) links() []string {
	var out []string
	for _, match := range linkPattern.FindAllStringSubmatch(p.prose, -1) {
		out = append(out, match[1])
	}
	return out
}

// anchors are what the headings can be linked by.
func (p *page) anchors() map[string]bool {
	out := map[string]bool{}
	for _, match := range headingPattern.FindAllStringSubmatch(p.prose, -1) {
		out[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	return out
}

var namePattern = regexp.MustCompile(`^# (\S+\.ya?ml)\n`)

// name is the file that a block is, which its first line says, or "".
func (b block) name() string {
	if match := namePattern.FindStringSubmatch(b.text); match != nil {
		return match[1]
	}
	return ""
}

// workspace writes the blocks of a page that are files, has init write what the page
// shows of it, and enters their directory.
func (p *page) workspace(t *testing.T) {
	t.Helper()
	p.enter(t)
	for _, b := range p.blocks {
		b.write(t)
		for _, c := range commands(b.text) {
			if b.info == "console" && offline.MatchString(c.line) && strings.HasPrefix(c.line, "dyncontroller init ") {
				run(t, c)
			}
		}
	}
}

// enter enters a directory with the files that a page is about, and nothing else.
func (p *page) enter(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	if p.path == cookbook {
		if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, recipes))); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
}

// write writes a block that is a file.
func (b block) write(t *testing.T) {
	t.Helper()
	if b.name() == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(b.name()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.name(), []byte(b.text), 0o644); err != nil {
		t.Fatal(err)
	}
}
