/** Whether a text is one line without anything that Markdown gives a meaning: it is drawn as it is. */
export const plain = (text: string): boolean => !/[\n\r`*_~[\]<>|\\&@]|:\/\/|www\./.test(text) && !/^\s|^(#{1,6}|[-+]|\d{1,9}[.)])(\s|$)|^([-=] ?)+$/.test(text);
