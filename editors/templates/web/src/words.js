// The words of the language, filled in from the compiler's tables.
const words = (list) => list.split(" ");

export const declarations = words("@declarations|words@");
export const conditionals = words("@conditionals|words@");
export const keywords = words("@keywords|words@");
export const constants = words("@constants|words@");
export const elements = words("@elements|words@");
export const operators = /@operators|slashes@|\.\./;
