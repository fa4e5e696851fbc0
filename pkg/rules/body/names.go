package body

import "slices"

// Names returns the names of the scope that the templates mention, each once.
func (b *Body) Names() []string { return mentioned(b.root, nil) }

func mentioned(p part, names []string) []string {
	switch p := p.(type) {
	case template:
		for _, name := range p.program.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	case list:
		for _, element := range p {
			names = mentioned(element, names)
		}
	case mapping:
		for _, e := range p {
			names = mentioned(e.value, mentioned(e.key, names))
		}
	}
	return names
}
