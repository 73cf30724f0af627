" The words of the Axon language, filled in from the compiler's tables.

let axon#words#declarations = split('@declarations|words@')
let axon#words#constants = split('@constants|words@')
let axon#words#reserved = split('@reserved|words@')
