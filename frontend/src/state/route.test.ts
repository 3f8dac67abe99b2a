import { expect, test } from 'vitest';
import { pages, placeOf } from './route.svelte';

test.each(pages)('%s is a fragment of the one address that the server has the page at', (page) => {
  const place = new URL(placeOf(page, 'op_1', 'a/b'), 'http://127.0.0.1:7717/');
  expect(place.pathname + place.search).toBe('/');
  expect(place.hash).toBe(`#/${page}/op_1/a%2Fb`);
});
