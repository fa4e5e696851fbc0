package golden

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Parse reads what Encode wrote, as maps, lists and scalars; integers are
// int64.
func Parse(file document.File) (any, document.Errors) {
	documents, errs := document.Parse(file)
	switch {
	case len(errs) > 0:
		return nil, errs
	case len(documents) == 0:
		return nil, document.Errors{{File: file.Name, Message: "the golden is empty"}}
	case len(documents) > 1:
		return nil, document.Errors{documents[1].Errorf("remove it", "a golden is one document, this is another")}
	default:
		return documents[0].Any(), nil
	}
}

// Tree returns value as Parse would give it.
func Tree(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	var out any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	return out, nil
}
