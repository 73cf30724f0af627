// The words of the language, filled in from the compiler's tables.
const words = (list) => list.split(" ");

export const declarations = words("fun entry val type prim import private test layout mesh");
export const conditionals = words("if then else");
export const keywords = words("as where let in for fn with");
export const constants = words("true false");
export const elements = words("f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u32 u8 bool");
export const operators = /!=|&&|->|:>|<=|==|=>|>=|\|>|\|\||%|\*|\+|-|\/|<|=|>|\?|@|\||\.\./;
