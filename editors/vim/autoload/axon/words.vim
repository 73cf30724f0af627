" The words of the Axon language, filled in from the compiler's tables.

let axon#words#declarations = split('fun entry val type prim import private test layout mesh')
let axon#words#constants = split('true false')
let axon#words#reserved = split('fun entry val type prim import private test layout mesh as where let in if then else for fn with true false')
