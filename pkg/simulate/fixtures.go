package simulate

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// readObjects reads the objects of files, which a cluster must be able to have
// all at once.
func readObjects(places []place, files Files) ([]object, document.Errors) {
	var out []object
	var errs document.Errors
	first := map[string]string{}
	for _, named := range places {
		file, wrong := named.read(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		objects, wrongs := parseObjects(file)
		errs = append(errs, wrongs...)
		for _, o := range objects {
			id := identityOf(o.content)
			if before := first[id]; before != "" && len(wrongs) == 0 {
				errs = append(errs, o.node.Errorf("give one of them another name", "the object is in %s already", before))
			}
			first[id] = fmt.Sprintf("%s, line %d,", file.Name, o.node.Position().Line)
		}
		out = append(out, objects...)
	}
	return out, errs
}
