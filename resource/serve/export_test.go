package serve

// YAMLOf converts JSON to YAML.
var YAMLOf = yamlOf
