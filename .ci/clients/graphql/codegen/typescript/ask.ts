// The least that a client needs. The types of variables and results are those generated from the SDL.
import { print } from "graphql";
import type { TypedDocumentNode } from "@graphql-typed-document-node/core";

export type Failure = { message: string; path?: (string | number)[]; extensions: { code: string } };
export type Answer<Data> = { data?: Data | null; errors?: Failure[] };

export async function ask<Data, Variables>(
  url: string,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Answer<Data>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/graphql-response+json" },
    body: JSON.stringify({ query: print(document), variables }),
  });
  return (await response.json()) as Answer<Data>;
}

// must returns what one field of an answer has, or throws.
export async function must<Data, Field extends keyof Data>(
  answer: Promise<Answer<Data>>,
  field: Field,
): Promise<NonNullable<Data[Field]>> {
  const { data, errors } = await answer;
  const value = data?.[field];
  if (value == null || errors) throw new Error(`no ${String(field)}: ${JSON.stringify(errors)}`);
  return value;
}

// codeOf returns the code of the only error of an answer.
export async function codeOf(answer: Promise<Answer<unknown>>): Promise<string | undefined> {
  const { errors } = await answer;
  return errors?.length === 1 ? errors[0]?.extensions.code : undefined;
}

export function same(what: string, got: unknown, want: unknown): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) throw new Error(`${what}: ${a}, want ${b}`);
}
