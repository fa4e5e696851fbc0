package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var kubernetesRows = []Function{
	{
		Name: "condition", call: condition, flow: flowCondition, types: typeCondition, Result: value.Map | value.Nil,
		Params:  []Param{takes("object", aMap), takes("type", aText)},
		Doc:     "The condition of that type in the object's status, or nil.",
		Example: Example{`condition({status: {conditions: [{type: "Ready", status: "True"}]}}, "Ready")?.status`, `"True"`},
	},
	{
		Name: "labelsMatch", call: labelsMatch, flow: flowLabelsMatch, Result: value.Bool,
		Params: []Param{takes("object", aMap), takes("selector", aMap)},
		Doc: "Whether a label selector, of matchLabels and matchExpressions, selects the object. " +
			"None does where it is nil; an empty one, which would select everything, is an error.",
		Example: Example{`labelsMatch({metadata: {labels: {app: "tidb"}}}, {matchLabels: {app: "tidb"}})`, "true"},
	},
	{
		Name: "controllerOf", call: controllerOf, flow: flowControllerOf, types: typeControllerOf, Result: value.Map | value.Nil,
		Params:  []Param{takes("object", aMap)},
		Doc:     "The owner reference of the object that says controller, or nil.",
		Example: Example{`controllerOf({metadata: {ownerReferences: [{kind: "ReplicaSet", name: "web", controller: true}]}})?.name`, `"web"`},
	},
	{
		Name: "controllerRef", call: controllerRef, flow: flowControllerRef, types: typeControllerRef, Result: value.Map, Params: []Param{takes("object", aMap)},
		Doc: "An owner reference to the object as the controller of what holds it.",
		Example: Example{
			`controllerRef({apiVersion: "apps/v1", kind: "ReplicaSet", metadata: {name: "web", uid: "0-1"}})`,
			`{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"ReplicaSet","name":"web","uid":"0-1"}`,
		},
	},
}
