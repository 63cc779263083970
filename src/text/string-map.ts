/** Labels, annotations or data: keys and values that users choose. */
export type StringMap = Readonly<Record<string, string>>;
