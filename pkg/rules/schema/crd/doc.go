// Package crd reads CustomResourceDefinitions as their authors publish them, in YAML
// or JSON, and says which resources they define.
//
//	file -> Read -> Definition -> NewSource -> schema.Source
//
// What a definition has to be beyond what is read of it, a [Check] says; its faults are
// located in the file.
//
// A file may hold other objects too, as what is to be installed often does. Reading
// one costs no more than its size allows, whatever is in it.
package crd
